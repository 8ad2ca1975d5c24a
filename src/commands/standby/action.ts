import { createKeyExaminer } from '../../collectors/keys/files.ts'
import type { Config } from '../../config/schema.ts'
import { ifUnreadable } from '../../core/errors.ts'
import { backupOf, keystoreOf, resolveFolders } from '../../domain/key-paths.ts'
import { RESTART_TONES } from '../../health/restart-window.ts'
import { iso } from '../../health/sections/fact.ts'
import { type StandbyInput, standbyReport } from '../../health/standby.ts'
import { readKeyMaterial } from '../../parsers/keystore.ts'
import { readSecretFile } from '../../sources/credential-file.ts'
import { keyFiles } from '../../sources/key-files.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { type Io, UsageError } from '../../terminal/io.ts'
import { checkRows } from '../restart-window/action.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

const EXPECTED = '--primary: expected an http or https address; one with a password in a file, by the path of the file'
const EXIT_CODES = { ok: 0, no: 1, unknown: 2 } as const

type StandbyOptions = Readonly<Partial<Record<'primary' | 'from', string>>>

export const checkStandby = async (context: ConfiguredContext<StandbyOptions>): Promise<void> => {
  const { io, exit, options, config, host, gather, print } = context
  const url = options.primary === undefined ? undefined : await readUrl(options.primary)
  const input = await gather(async (): Promise<StandbyInput> => {
    const here = await readSnapshot(io, config)
    const primary = url === undefined ? 'no address of its agent (--primary)' : await readPrimary(host, url)
    return { here, primary, ...(await readKeys(io, config, { word: here.prefix ?? 'chain', from: options.from })) }
  })
  const { state, summary, checks } = standbyReport(input)
  const exitCode = EXIT_CODES[state]
  const isReady = state === 'unknown' ? null : state === 'ok'
  print({
    document: () => ({ at: iso(input.here.at), isReady, summary, checks, exitCode }),
    lines: (style) => [
      ...style.paragraph(RESTART_TONES[state], `STANDBY: ${summary}.`),
      '',
      ...style.pairs(checkRows(checks, style)),
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
const readPrimary = async (host: ConfiguredContext<object>['host'], url: string): Promise<StandbyInput['primary']> => {
  const read = await fetchSnapshot({ ...host, url }).catch(ifUnreadable(({ summary }) => summary))
  return read ?? 'no agent answers at its address'
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
