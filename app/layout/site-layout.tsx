import { Link, NavLink, Outlet } from "react-router";
import "./layout.css";

type Props = { links: { to: string; text: string }[] };

/** Header, navigation and footer around a page, which brings its own `<main>`. */
export function SiteLayout({ links }: Props) {
  return (
    <div className="layout">
      {/* Not a <Link>: that scrolls to its target, but leaves the focus where it is. */}
      <a href="#content">Skip to the content</a>
      <header>
        <Link to="/">
          <img src={`${import.meta.env.BASENAME}/icon.svg`} alt="" width={32} height={32} />
          Greeting
        </Link>
        <nav aria-label="Main">
          {links.map(({ to, text }) => (
            <NavLink key={to} to={to}>
              {text}
            </NavLink>
          ))}
        </nav>
      </header>
      <div id="content" tabIndex={-1}>
        <Outlet />
      </div>
      <footer>
        <p>© Greeting</p>
      </footer>
    </div>
  );
}
