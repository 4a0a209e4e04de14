import { layout, route } from "@react-router/dev/routes";

export default [
  route("sign-in", "example-pages/sign-in/sign-in.tsx"),
  route("sign-out", "example-pages/sign-in/sign-out.ts"),
  // Put your private pages beside the account.
  layout("example-pages/sign-in/private.tsx", [route("account", "example-pages/sign-in/account.tsx")]),
];
