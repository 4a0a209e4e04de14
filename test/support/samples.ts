import { readdirSync, readFileSync } from "node:fs";

const listDocuments = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);

/** The code samples of the documents. `file` is what the comment in the first line names. */
export function readSamples() {
  const folders = ["app", "docs", "packages/server/docs", "packages/server/examples/sign-in"].flatMap(listDocuments);
  return ["README.md", "CONTRIBUTING.md", "packages/server/README.md", ...folders].flatMap((document) => {
    const samples = readFileSync(document, "utf8").matchAll(
      /^```(?!sh\n)\w+\n(?:(?:\/\/|\/\*|\{\/\*|#) (\S+\.\w+)[^\n]*\n)?(.*?)^```/gms,
    );
    return [...samples].map(([, file, code = ""]) => ({ document, file, code }));
  });
}

/** Documents and files have other line breaks and indentation. */
export const withoutSpace = (text: string) => text.replaceAll(/\s/g, "");
