import { prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [
  route("query", "query/examples/query.tsx"),
  route("visitors/:name", "query/examples/visitor.tsx"),
  route("count", "query/examples/count.tsx"),
  route("basket", "query/examples/basket.tsx"),
  route("basket-items", "query/examples/basket-items.ts"),
]);
