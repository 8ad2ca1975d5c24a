import { createKeyExaminer } from '../../collectors/keys/files.ts'
import type { Config } from '../../config/schema.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { backupOf, keystoreOf, resolveFolders } from '../../domain/key-paths.ts'
import { RESTART_TONES } from '../../health/restart-window.ts'
import { iso } from '../../health/sections/fact.ts'
import { type StandbyInput, standbyReport } from '../../health/standby.ts'
import { readKeyMaterial } from '../../parsers/keystore.ts'
import { readSecretFile } from '../../sources/credential-file.ts'
import { keyFiles } from '../../sources/key-files.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, UsageError, unlessInterrupted } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { pairs, wrap } from '../../terminal/style.ts'
import { checkRows } from '../restart-window/action.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

const EXPECTED = '--primary: expected an http or https address; one with a password in a file, by the path of the file'
const EXIT_CODES = { ok: 0, no: 1, unknown: 2 } as const

type StandbyOptions = ConfigOptions & OutputOptions & { readonly primary?: string; readonly from?: string }

export const checkStandby = async (context: ActionContext<StandbyOptions>): Promise<void> => {
  const { io, exit, options } = context
  const { config } = nodeConfigOf(io, options)
  const url = options.primary === undefined ? undefined : await readUrl(options.primary)
  const input = await unlessInterrupted(io, exit, async (): Promise<StandbyInput> => {
    const { snapshot: here } = await readSnapshot(io, options)
    const primary = url === undefined ? 'no address of its agent (--primary)' : await readPrimary(io, config, url)
    return { here, primary, ...(await readKeys(io, config, { word: here.prefix ?? 'chain', from: options.from })) }
  })
  if (!input) return
  const { state, summary, checks } = standbyReport(input)
  const exitCode = EXIT_CODES[state]
  const isReady = state === 'unknown' ? null : state === 'ok'
  printResult(context, {
    document: () => ({ at: iso(input.here.at), isReady, summary, checks, exitCode }),
    lines: (style) => [
      ...wrap(`STANDBY: ${summary}.`, style).map((line) => style.paint(RESTART_TONES[state], line)),
      '',
      ...pairs(checkRows(checks, style), style),
    ],
  })
  exit(exitCode)
}

/** The address, which a file has if it contains a password. Throws a UsageError or a SourceError. */
const readUrl = async (primary: string): Promise<string> => {
  const isUrl = /^https?:\/\//i.test(primary)
  const text = isUrl ? primary : await readSecretFile(primary)
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || (isUrl && new URL(text).password !== ''))
    throw new UsageError(EXPECTED)
  return text.replace(/\/+$/, '')
}

/** The primary, or why it is unknown. */
const readPrimary = async (io: Io, config: Config, url: string): Promise<StandbyInput['primary']> => {
  const { clock, signal, overrides } = io
  try {
    return (await fetchSnapshot({ config, clock, signal, ...overrides, url })) ?? 'no agent answers at its address'
  } catch (error) {
    if (!(error instanceof SourceError || error instanceof ParseError) || signal.aborted) throw error
    return error.summary
  }
}

/** The backups from which the keystores would be restored. */
const readKeys = async (
  { signal }: Io,
  { node }: Config,
  { word, from }: { readonly word: string; readonly from: string | undefined },
): Promise<Omit<StandbyInput, 'here' | 'primary'>> => {
  const readPrefix: ReadPrefix = () => Promise.resolve({ word, from: 'configuration' })
  const folders = await resolveFolders(node, { prefix: word, files: keyFiles })
  const backupDirectory = from ?? folders.backupDirectory
  const files = await createKeyExaminer({ keyFiles, readPrefix, keyFolders: { ...node, backupDirectory } })(signal)
  const secp = await keyFiles.read(
    backupOf({ backupDirectory }, 'secp'),
    (text) => readKeyMaterial(text).material?.publicKey ?? null,
  )
  const keystore = await keyFiles.look(keystoreOf(folders, 'secp'))
  return {
    files,
    backupKey: typeof secp === 'string' ? null : secp.verdict,
    keystoreWrittenAt: typeof keystore === 'string' ? null : keystore.modifiedAt,
  }
}
