// A resource route: without a component it answers with whatever its loader returns.
export function loader() {
  return Response.json({ celsius: 21 });
}
