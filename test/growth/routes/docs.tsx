import { NavLink, Outlet } from "react-router";

/** A layout: around all pages of the handbook. */
export default function Docs() {
  return (
    <main className="screen">
      <nav>
        <NavLink to="/docs">Handbook</NavLink> <NavLink to="/docs/setup/linux">Linux</NavLink>
      </nav>
      <Outlet />
    </main>
  );
}
