import { type CommandParser, defineScript } from "@redis/client";

// In each script, KEYS are the page, its turn and the epoch, and ARGV[1] is the prefix of tags. Times are microseconds
// on the clock of Redis.
//
// A page has the tags that invalidations name, and a tag is a key whose value is the time at which it was made. A page
// is valid while each of its tags has the value that it had when the page was stored. So an invalidation only deletes
// keys, which a full Redis allows, and if Redis evicts a tag, its pages count as invalidated.
//
// The epoch is deleted by each invalidation. While it stays the same, a tag that doesn't exist was never deleted.

const NOW = `
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local text = string.format("%.0f", now)
`;

/** The client sends the script's hash, and the whole script if Redis doesn't have it. Strings in replies are Buffers. */
const toScript = <Reply, Result>(source: string, transformReply: (reply: Reply) => Result) =>
  defineScript({
    SCRIPT: source,
    NUMBER_OF_KEYS: 3,
    parseCommand: (parser: CommandParser, keys: string[], args: (string | Buffer)[]) => parser.push(...keys, ...args),
    transformReply,
  });
const ignoreReply = () => {};

type LookedUp = [
  version: Buffer | null,
  age: number,
  isFresh: number,
  epoch: Buffer | null,
  now: Buffer | null,
  head?: Buffer,
  bodies?: Buffer,
];
type Stored = [result: Buffer, epoch: Buffer, now: Buffer];

/** ARGV: 2 the version that the process has, 3 the turn's token or "", 4 the turn's milliseconds. */
export const lookUp = toScript(
  `${NOW}
local version, renderedAt, fresh, tags = unpack(redis.call("HMGET", KEYS[1], "version", "renderedAt", "fresh", "tags"))
if version then
  for tag, value in pairs(cjson.decode(tags)) do
    if redis.call("GET", ARGV[1] .. tag) ~= value then version = false end
  end
end
local age = version and math.max(0, (now - renderedAt) / 1000) or 0
local isFresh = version and age < tonumber(fresh)
local page = version and version ~= ARGV[2] and redis.call("HMGET", KEYS[1], "head", "bodies") or {}
local epoch = false
if ARGV[3] ~= "" and not isFresh and redis.call("SET", KEYS[2], ARGV[3], "NX", "PX", ARGV[4]) then
  redis.call("SET", KEYS[3], text, "NX")
  epoch = redis.call("GET", KEYS[3])
end
return { version, math.ceil(age), isFresh and 1 or 0, epoch, epoch and text, unpack(page) }
`,
  ([version, age, isFresh, epoch, now, head, bodies]: LookedUp) => ({
    version,
    age,
    isFresh: isFresh === 1,
    epoch,
    now,
    head,
    bodies,
  }),
);

/**
 * ARGV: 2 the turn's token, 3 the epoch and 4 the time at which the render began, 5 the version, 6 the age, 7 for how
 * long it is fresh and 8 until it expires, in milliseconds, 9 the tags, 10 the head and 11 the bodies.
 */
export const store = toScript(
  `${NOW}
if redis.call("GET", KEYS[2]) ~= ARGV[2] then return { "lost" } end
local isSameEpoch = redis.call("GET", KEYS[3]) == ARGV[3]
local tags = {}
for _, tag in ipairs(cjson.decode(ARGV[9])) do
  local key = ARGV[1] .. tag
  local value = redis.call("GET", key)
  if not isSameEpoch and (not value or tonumber(value) >= tonumber(ARGV[4])) then
    redis.call("SET", KEYS[3], text, "NX")
    return { "invalidated", redis.call("GET", KEYS[3]), text }
  end
  if not value then
    value = text
    redis.call("SET", key, value, "PX", ARGV[8])
  elseif redis.call("PTTL", key) < tonumber(ARGV[8]) then
    redis.call("PEXPIRE", key, ARGV[8])
  end
  tags[tag] = value
end
local renderedAt = string.format("%.0f", now - ARGV[6] * 1000)
redis.call("HSET", KEYS[1], "version", ARGV[5], "renderedAt", renderedAt, "fresh", ARGV[7], "tags", cjson.encode(tags),
  "head", ARGV[10], "bodies", ARGV[11])
redis.call("PEXPIRE", KEYS[1], ARGV[8])
redis.call("DEL", KEYS[2])
return { "stored" }
`,
  ([result, epoch, now]: Stored) => ({ result: String(result) as "stored" | "invalidated" | "lost", epoch, now }),
);

/** ARGV: 2 the turn's token, 3 the milliseconds that it has from now on. */
export const extendTurn = toScript(
  `
if redis.call("GET", KEYS[2]) == ARGV[2] then redis.call("PEXPIRE", KEYS[2], ARGV[3]) end
`,
  ignoreReply,
);

/** ARGV: 2 the turn's token, 3 "remove" if the page is removed. */
export const endTurn = toScript(
  `
if redis.call("GET", KEYS[2]) ~= ARGV[2] then return end
redis.call("DEL", KEYS[2])
if ARGV[3] == "remove" then redis.call("DEL", KEYS[1]) end
`,
  ignoreReply,
);
