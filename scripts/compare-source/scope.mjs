// The files whose code runs in the node's programs.
import { parse } from 'smol-toml'

const PROGRAMS = ['monad-node', 'monad-rpc']
const NOT_RUN = /(?:^|\/)(?:tests?|examples|bin|benches|benchmarks?|unittests?|fuzz\w*|fuzzer|testing)\//
const TEST_FILE = /(?:^|[_/])(?:tests?|bench|fuzz\w*|test_\w+)\.(?:rs|c|cpp|hpp|h)$|build\.rs$/

/** The first two parts of a path in `monad`, the crate in `monad-bft`. */
export const groupOf = (path) => {
  const [repository, first, second] = path.split('/')
  return repository === 'monad' && first === 'category' ? `${repository}/${first}/${second}` : `${repository}/${first}`
}

/** Rust: the programs and what they depend on. C++: `category` and the program `cmd/monad`. */
export const createScope = (files) => {
  const crates = cratesOf(files)
  return (path) => {
    if (NOT_RUN.test(path) || TEST_FILE.test(path)) return false
    if (path.startsWith('monad-bft/')) return path.endsWith('.rs') && crates.has(path.split('/')[1])
    return /^monad\/(?:category\/|cmd\/monad\/)/.test(path)
  }
}

const cratesOf = (files) => {
  const crates = new Set()
  const queue = [...PROGRAMS]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const manifest = files.get(`monad-bft/${name}/Cargo.toml`)
    if (manifest === undefined || crates.has(name)) continue
    crates.add(name)
    queue.push(...Object.keys(parse(manifest).dependencies ?? {}))
  }
  return crates
}
