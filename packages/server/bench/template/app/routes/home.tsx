export const meta = () => [{ title: "Home" }];

export default function Home() {
  return (
    <main className="screen">
      <h1>Home</h1>
    </main>
  );
}
