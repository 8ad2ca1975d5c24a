// oxlint-disable-next-line no-control-regex -- colours, and what a pager leaves
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\([0AB])/g

/** The lines of what a program printed for a terminal, without its escapes and the blanks at their ends. */
export const plainLines = (text: string): readonly string[] =>
  text
    .replaceAll(ESCAPES, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimEnd())
