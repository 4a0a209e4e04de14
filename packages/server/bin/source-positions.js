#!/usr/bin/env node
// Adds the source's file and line to the stack traces of standard input, by the source maps of the build.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { text } from "node:stream/consumers";

const maps = new Map();

function readMap(name) {
  if (!maps.has(name)) maps.set(name, new SourceMap(JSON.parse(readFileSync(`build/source-maps/${name}.map`, "utf8"))));
  return maps.get(name);
}

function findSource(position, name, line, column) {
  try {
    const { originalSource, originalLine } = readMap(name).findEntry(line - 1, column - 1);
    return `${position} (${originalSource.replace(/^(\.\.\/)+/, "")}:${originalLine + 1})`;
  } catch {
    return position; // Of another release.
  }
}

const input = await text(process.stdin);
console.log(input.replaceAll(/([\w.-]+\.js):(\d+):(\d+)/g, findSource));
