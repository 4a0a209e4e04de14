// A site's generated types (.react-router/types/+future.ts) have the same. The package is checked without them.
import "react-router";

declare module "react-router" {
  interface Future {
    v8_middleware: true;
  }
}
