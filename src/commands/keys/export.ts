import { resolve } from 'node:path'
import { KEY_TYPES } from '../../domain/key-paths.ts'
import { createEncrypt, type Recipient } from '../../keys/age.ts'
import { exportKeys, type ExportResult } from '../../keys/export.ts'
import type { KeySession } from './session.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { UsageError, type ActionContext } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import type { Style } from '../../terminal/style.ts'
import { LEGACY, page, runKeyCommand } from './key-command.ts'

interface ExportOptions extends ConfigOptions, OutputOptions {
  readonly type?: readonly ExportResult['key'][]
  readonly recipient: readonly string[]
  readonly recipientsFile?: string
  readonly outputDirectory: string
  readonly armor?: true
}

export const exportBackups = async ({ io, exit, options }: ActionContext<ExportOptions>): Promise<void> => {
  await runKeyCommand({ io, exit, options }, async (session, progress) => {
    const encrypt = createEncrypt(await recipientsOf(session, options))
    const folder = resolve(options.outputDirectory)
    const isArmored = options.armor === true
    const keys = options.type ?? KEY_TYPES
    const known = await session.readKnownKeys({ mayRun: true })
    const request = { keys, encrypt, known, folder, isArmored }
    const done = await exportKeys(session.context, request)
    progress.end()
    printResult(
      { io, options },
      { document: () => done, lines: (style) => [...done.flatMap((one) => render(one, style)), CLOSING] },
    )
    exit(0)
  })
}

const CLOSING =
  "Move them off this host, decrypt one there (age -d -i KEYFILE), and record it: chain-agent keys off-node 'where'"

const render = ({ key, file, publicKey, isLegacy }: ExportResult, style: Style): readonly string[] =>
  page(`${style.paint('good', style.sign('good'))} ${key}: ${file}`, style, [
    ...(publicKey === null ? [] : [['public key', publicKey] as const]),
    ...(isLegacy ? [['legacy', LEGACY] as const] : []),
  ])

const recipientsOf = async ({ context }: KeySession, options: ExportOptions): Promise<readonly Recipient[]> => {
  const { recipient, recipientsFile } = options
  const given = recipient.map((text, at) => ({ text, place: `--recipient number ${at + 1}` }))
  const listed =
    recipientsFile === undefined
      ? []
      : (await context.files.read(recipientsFile, { isNamed: true }))
          .toString('utf8')
          .split('\n')
          .map((line, at) => ({ text: line.trim(), place: `${recipientsFile}:${at + 1}` }))
          .filter(({ text }) => text !== '' && !text.startsWith('#'))
  const all = [...given, ...listed]
  if (all.length > 0) return all
  throw new UsageError(
    'No recipient: use --recipient age1... or --recipients-file FILE (age-keygen -o KEYFILE creates one)',
  )
}
