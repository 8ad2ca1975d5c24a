// oxlint-disable-next-line no-control-regex -- colours and pager output
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\([0AB])/g

/** The lines of terminal output, without escape sequences and trailing whitespace. */
export const plainLines = (text: string): readonly string[] =>
  text
    .replaceAll(ESCAPES, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimEnd())
