// What node-source.yaml has of the patterns, messages, metrics, facts and documents of the agent, by name.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const FILE = new URL('node-source.yaml', import.meta.url)

/** The entry of a name, with its functions as one list. */
const entryOf = ({ own, received, ...rest }) => ({
  ...rest,
  sources: Object.entries({ own, received }).flatMap(([cause, files = {}]) =>
    Object.entries(files).flatMap(([file, names]) => names.map((name) => ({ file, function: name, cause }))),
  ),
})

const { documents, ...tables } = parse(readFileSync(FILE, 'utf8'))

/** By table and name. */
const NODE_SOURCE = Object.fromEntries(
  Object.entries(tables).map(([table, entries]) => [
    table,
    new Map(Object.entries(entries).map(([name, entry]) => [name, entryOf(entry)])),
  ]),
)

/** What the node's documents state, by document. */
export const DOCUMENT_STATEMENTS = documents

/** The definition of the agent with its entry of the table. */
export const withSource = (table, name, definition = {}) => {
  const entry = NODE_SOURCE[table].get(name)
  if (entry === undefined) throw new Error(`node-source.yaml has no "${name}" in ${table}`)
  return { name, ...definition, ...entry }
}

/** The limits of the node: those of the agent, and those that only the documentation names. */
export const factsWith = (nodeFacts) =>
  [...NODE_SOURCE.facts.keys()].map((name) => withSource('facts', name, nodeFacts[name]))

/** The texts of execution's log, with the functions that log them. */
export const EXECUTION_LINES = [...NODE_SOURCE.execution.keys()].map((name) => withSource('execution', name))
