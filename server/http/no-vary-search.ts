/** Takes out of a query, like `?a=1`, the parameters that don't count. */
export type QueryFilter = (query: string) => string;

const MEMBER = /^(key-order|params|except)(?:=(?:\?([01])|\(([^()]*)\)))?$/;

/**
 * What `No-Vary-Search` says of a page's query: which parameters make no difference to the response. All of them count
 * without the header, or where it isn't well-formed (draft-ietf-httpbis-no-vary-search §3 and §4), and those that are
 * named do in any case.
 */
export function createQueryFilter(noVarySearch: string | null, alwaysCounting: string[] = []): QueryFilter {
  const all: QueryFilter = (query) => query;
  const members = noVarySearch?.split(",").map((member) => MEMBER.exec(member.trim())) ?? [null];
  if (members.includes(null)) return all;
  const read = (name: string) => {
    const member = members.find((member) => member?.[1] === name);
    const [, , flag, list] = member ?? [];
    return {
      isSet: member !== undefined && flag !== "0",
      names: list?.match(/"[^"]*"/g)?.map((name) => name.slice(1, -1)),
    };
  };
  const [params, except, keyOrder] = [read("params"), read("except"), read("key-order")];
  if (!params.isSet && !keyOrder.isSet) return all;
  const counts = (name: string) => {
    if (!params.isSet || alwaysCounting.includes(name)) return true;
    return params.names ? !params.names.includes(name) : (except.names?.includes(name) ?? false);
  };
  return (query) => {
    // As the client wrote them: another spelling of the same is another address, which costs a render, and no more.
    const pairs = query
      .slice(1)
      .split("&")
      .filter((pair) => pair !== "" && counts(nameOf(pair)));
    if (keyOrder.isSet) pairs.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b))));
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  };
}

/** The name of a parameter like `a=1`, decoded. */
function nameOf(pair: string) {
  const [name = ""] = pair.split("=", 1);
  return /[%+]/.test(name) ? String(new URLSearchParams(name).keys().next().value) : name;
}
