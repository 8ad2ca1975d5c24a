// Reads the files of a clone with git, so that a clone without a work tree works, too.
import { execFileSync } from 'node:child_process'
import { languageOf } from './messages.mjs'

/** A file that only this repository has. */
const REPOSITORIES = { 'monad-node/src/main.rs': 'monad-bft', 'cmd/monad/main.cpp': 'monad' }

export class CloneError extends Error {}

const git = (directory, words, input) => {
  try {
    return execFileSync('git', ['-C', directory, ...words], {
      input,
      maxBuffer: 2 ** 30,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  } catch (error) {
    const [reason = error.message] = String(error.stderr ?? '')
      .trim()
      .split('\n')
    throw new CloneError(
      `${directory}: git ${words[0]} failed: ${reason || error.message}. Expected a clone with git, or a bare one, as DIRECTORY or DIRECTORY@REF`,
    )
  }
}

/** `DIRECTORY` or `DIRECTORY@REF`; without a ref, HEAD. */
export const openClone = (argument, wanted) => {
  const at = argument.lastIndexOf('@')
  const [directory, ref] = at > 0 ? [argument.slice(0, at), argument.slice(at + 1)] : [argument, 'HEAD']
  const commit = git(directory, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`])
    .toString()
    .trim()
  const paths = git(directory, ['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit])
    .toString()
    .split('\0')
    .filter(Boolean)
  const repository = Object.entries(REPOSITORIES).find(([path]) => paths.includes(path))?.[1]
  if (repository === undefined) {
    throw new CloneError(
      `${directory}@${ref} is not the node's source: it has none of ${Object.keys(REPOSITORIES).join(', ')}`,
    )
  }
  const read = paths.filter(
    (path) => languageOf(path) !== null || path.endsWith('Cargo.toml') || wanted.has(`${repository}/${path}`),
  )
  return {
    repository,
    commit,
    files: new Map(readFiles(directory, commit, read).map(([path, text]) => [`${repository}/${path}`, text])),
  }
}

/** The answers of `git cat-file --batch`: a line with the size, the content, a line feed. */
const readFiles = (directory, commit, paths) => {
  const output = git(directory, ['cat-file', '--batch'], paths.map((path) => `${commit}:${path}\n`).join(''))
  const files = []
  let at = 0
  for (const path of paths) {
    const end = output.indexOf(10, at)
    const header = output.toString('utf8', at, end)
    const [, size] = / blob (\d+)$/.exec(header) ?? []
    at = end + 1
    // A submodule, or a file that a partial clone does not have.
    if (size === undefined) continue
    files.push([path, output.toString('utf8', at, at + Number(size))])
    at += Number(size) + 1
  }
  return files
}
