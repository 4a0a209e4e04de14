import * as v from "valibot";

const MethodSchema = v.picklist(["POST", "PUT", "PATCH", "DELETE"], "must be POST, PUT, PATCH or DELETE");

/** The keys of a route's `handle` that the server reads. A route may have others of its own. */
export const HandleSchema = v.object({
  /** The methods of cross-origin requests that the route's action accepts (docs/policy-and-third-parties.md). */
  acceptsCrossOrigin: v.optional(v.array(MethodSchema, 'must be a list of methods, such as ["POST"]')),
  /** The path that is rendered and cached for every path that the route matches. Without `basename`. */
  cacheKey: v.optional(v.pipe(v.string(), v.regex(/^\/[^?#]*$/, "must be a path"))),
  /** The largest request body of the route and those inside it (docs/uploads-and-streams.md). */
  maxBodyBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** Additions to the security headers, each in the header's own syntax (docs/policy-and-third-parties.md). */
  securityHeaders: v.optional(v.record(v.string(), v.string())),
});

/** Routes import the type only: `export const handle = { … } satisfies Handle`. */
export type Handle = v.InferInput<typeof HandleSchema>;
