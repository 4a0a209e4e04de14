import * as v from "valibot";

const MethodSchema = v.picklist(["POST", "PUT", "PATCH", "DELETE"], "must be POST, PUT, PATCH or DELETE");

/** Each variant is rendered, and takes memory. */
const MAX_VARIANTS = 32;
const LanguagesSchema = v.array(v.pipe(v.string(), v.regex(/^[a-z]{2,8}(-[a-z\d]{1,8})*$/i, "must be a language tag")));
const CookieValuesSchema = v.array(v.pipe(v.string(), v.regex(/^[\w.%~-]+$/, "must be the value of a cookie")));

/** The headers that a cached page differs by. The first value of each is the default. */
export const VariantsSchema = v.pipe(
  v.strictObject(
    {
      "Accept-Language": v.optional(LanguagesSchema),
      Cookie: v.optional(
        v.record(v.pipe(v.string(), v.regex(/^[\w-]+$/, "must be the name of a cookie")), CookieValuesSchema),
      ),
    },
    'must be like { "Accept-Language": ["en", "de"], Cookie: { currency: ["EUR", "USD"] } }',
  ),
  v.check((variants) => {
    const lists = [variants["Accept-Language"] ?? [""], ...Object.values(variants.Cookie ?? {})];
    const count = lists.reduce((product, { length }) => product * length, 1);
    return count > 1 && count <= MAX_VARIANTS;
  }, `must have 2 to ${MAX_VARIANTS} combinations of values`),
);

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
  /** The request headers that a cached page differs by, and their values (docs/caching.md). */
  variants: v.optional(VariantsSchema),
});

/** Routes import the type only: `export const handle = { … } satisfies Handle`. */
export type Handle = v.InferInput<typeof HandleSchema>;
