// Imported by a server in tests: on SIGUSR2, it logs its CPU time in microseconds.
process.on("SIGUSR2", () => {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ msg: "cpu time", microseconds: user + system }));
});
