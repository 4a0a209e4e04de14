declare module "*.mdx" {
  import type { FunctionComponent } from "react";

  const Page: FunctionComponent;
  export default Page;
}
