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
    if (query === "") return query;
    const counting = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => counts(name)));
    if (keyOrder.isSet) counting.sort();
    return counting.size === 0 ? "" : `?${counting}`;
  };
}
