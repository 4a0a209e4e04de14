import { layout, prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [
  layout("layout/examples/layout.tsx", [
    route("walks", "layout/examples/walks.tsx"),
    route("book", "layout/examples/book.tsx"),
    route("tailwind-in-layout", "layout/examples/tailwind.tsx"),
  ]),
]);
