import type { Route } from "./+types/home";

export const handle = { renderOnce: true };

export const meta: Route.MetaFunction = () => [{ title: "Hello World" }];

export default function Home() {
  return (
    <main>
      <h1>Hello World</h1>
      <p lang="zh-Hans">欢迎来到我的世界 🌍</p>
      <div className="animate-bounce" aria-hidden="true">
        👋
      </div>
    </main>
  );
}
