import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { run } from './support/programs.ts'

const SCRIPT = fileURLToPath(new URL('../scripts/compare-source.mjs', import.meta.url))

const output = z.object({
  commits: z.record(z.string(), z.string()),
  findings: z.array(
    z.object({
      kind: z.string(),
      what: z.string(),
      name: z.string(),
      from: z.string().optional(),
      to: z.string().optional(),
    }),
  ),
  new: z.array(z.object({ place: z.string(), kind: z.string(), text: z.string() })),
})

/**
 * A small tree in the place of the node's source: one message of the consensus parser, one metric and one fact where the
 * definitions of the agent have them, and warnings of its own.
 */
const TREE = {
  'monad-node/Cargo.toml': '[package]\nname = "monad-node"\n[dependencies]\nmonad-blocksync = {}\n',
  'monad-node/src/main.rs': `
async fn run(state: State) -> Result<(), ()> {
    // warn!("in a comment");
    if let Err(reason) = state.trace() {
        event!(Level::ERROR, "waltrace thread stopped");
    }
    warn!(code = "a field", "the kettle is {:?}", reason);
    let delta = state.plan.as_ref().expect("a plan has been made");
    Ok(())
}
`,
  'monad-node/src/metrics.rs': `
metric_consts! {
    pub GAUGE_TRIEDB_MIGRATION_PHASE {
        name: "monad.triedb.migration_phase",
        help: "a phase",
    }
}

pub fn record_triedb_phase_metrics(metrics: &mut Metrics, code: u64) {
    metrics.gauge(GAUGE_TRIEDB_MIGRATION_PHASE).set(code);
}
`,
  'monad-blocksync/Cargo.toml': '[package]\nname = "monad-blocksync"\n',
  'monad-blocksync/src/messages/message.rs': 'pub const BLOCKSYNC_MAX_NUM_HEADERS: usize = 8_00;\n',
  'monad-unused/src/lib.rs': 'fn never() {\n    warn!("no program of the node has this crate");\n}\n',
}

const SUBJECTS = new Set(['^waltrace thread stopped', 'triedb_migration_phase', 'blocksyncRequestHeaders'])

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-source-'))
  git('init', '--quiet')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const git = (...words: string[]) =>
  execFileSync('git', ['-C', directory, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words])

const commit = async (changes: Readonly<Record<string, string>>, tag: string) => {
  for (const [path, text] of Object.entries({ ...TREE, ...changes })) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  git('add', '.')
  git('commit', '--quiet', '--message', tag)
  git('tag', tag)
}

const compare = async (clone: string, ...options: string[]) => {
  const { stdout, stderr, code } = await run(process.execPath, [
    SCRIPT,
    '--json',
    '--recorded',
    record(),
    ...options,
    clone,
  ])
  if (stdout === '') throw new Error(stderr)
  const result = output.parse(JSON.parse(stdout))
  // The tree has little of what the definitions name.
  return { ...result, findings: result.findings.filter(({ name }) => SUBJECTS.has(name)), code }
}
const record = (): string => join(directory, 'recorded.txt')

/** `replaceAll` that must change something. */
const changed = (path: keyof typeof TREE, from: string, to: string) => {
  expect(TREE[path]).toContain(from)
  return { [path]: TREE[path].replaceAll(from, to) }
}

describe('compare-source', () => {
  test('what is in its place is no finding; texts without a name are new until they are recorded', async () => {
    await commit({}, 'first')
    const first = await compare(directory)
    expect(first.findings).toEqual([])
    expect(first.new).toEqual([
      expect.objectContaining({
        place: 'monad-bft/monad-node/src/main.rs:run',
        kind: 'warn',
        text: 'the kettle is {:?}',
      }),
      expect.objectContaining({
        place: 'monad-bft/monad-node/src/main.rs:run',
        kind: 'ends',
        text: 'a plan has been made',
      }),
    ])
    await compare(directory, '--record')
    expect((await compare(directory)).new).toEqual([])
    // File, function and hashes, without a text of the source.
    expect(readFileSync(record(), 'utf8')).toMatch(
      /^monad-bft\/monad-node\/src\/main\.rs:run [0-9a-f]{8} [0-9a-f]{8}$/m,
    )
    expect(readFileSync(record(), 'utf8')).not.toMatch(/kettle|plan/)
  })

  test('a text that is gone, or in another function', async () => {
    await commit(changed('monad-node/src/main.rs', 'waltrace thread stopped', 'waltrace thread ended'), 'gone')
    const from = 'monad-bft/monad-node/src/main.rs:run'
    const message = { what: 'message', name: '^waltrace thread stopped', from }
    expect((await compare(directory)).findings).toEqual([{ kind: 'gone', ...message }])
    await commit(changed('monad-node/src/main.rs', 'fn run', 'fn run_forever'), 'moved')
    expect((await compare(directory)).findings).toEqual([{ kind: 'moved', ...message, to: `${from}_forever` }])
  })

  test('a metric that is gone, or that another function sets', async () => {
    const file = 'monad-bft/monad-node/src/metrics.rs'
    const metric = { what: 'metric', name: 'triedb_migration_phase' }
    await commit(changed('monad-node/src/metrics.rs', 'triedb.migration_phase', 'triedb.phase'), 'gone')
    expect((await compare(directory)).findings).toEqual([{ kind: 'gone', ...metric, from: file }])
    await commit(changed('monad-node/src/metrics.rs', 'fn record_triedb_phase_metrics', 'fn record_phase'), 'moved')
    expect((await compare(directory)).findings).toEqual([
      { kind: 'moved', ...metric, from: `${file}:record_triedb_phase_metrics`, to: `${file}:record_phase` },
    ])
  })

  test('a fact with another value', async () => {
    await commit(changed('monad-blocksync/src/messages/message.rs', '8_00', '900'), 'changed')
    expect((await compare(directory)).findings).toMatchObject([
      { kind: 'changed', what: 'fact', name: 'blocksyncRequestHeaders' },
    ])
  })

  test('only a new warning is new; a test module and an example are not the node', async () => {
    await commit({}, 'first')
    await compare(directory, '--record')
    const more = `${TREE['monad-node/src/main.rs']}
fn pour() {
    warn!("the cup runs over");
}

#[cfg(test)]
mod test {
    fn check() {
        panic!("in a test");
    }
}
`
    const example = { 'monad-node/examples/tool.rs': 'fn main() {\n    error!("in an example");\n}\n' }
    await commit({ 'monad-node/src/main.rs': more, ...example }, 'second')
    expect((await compare(directory)).new).toEqual([
      expect.objectContaining({ place: 'monad-bft/monad-node/src/main.rs:pour', text: 'the cup runs over' }),
    ])
  })

  test('a bare clone, at a ref', async () => {
    await commit({}, 'first')
    await commit(changed('monad-blocksync/src/messages/message.rs', '8_00', '900'), 'second')
    const bare = join(directory, 'bare.git')
    git('clone', '--quiet', '--bare', directory, bare)
    expect((await compare(`${bare}@first`)).findings).toEqual([])
    expect((await compare(bare)).findings).toHaveLength(1)
  })

  test('exits with 1 if something is gone, with 2 if the directory is not a clone of the node', async () => {
    await commit({}, 'first')
    expect((await compare(join(directory, 'monad-unused'))).code).toBe(1)
    const other = await run(process.execPath, [SCRIPT, tmpdir()])
    expect(other).toMatchObject({ code: 2, stdout: '' })
    expect(other.stderr).toContain('Expected a clone')
    expect(await run(process.execPath, [SCRIPT])).toMatchObject({ code: 2 })
  })
})
