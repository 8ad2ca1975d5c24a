import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { z } from 'zod'
import { startAlertmanager } from '../support/alertmanager.ts'
import { eventually } from '../support/eventually.ts'
import { receiving } from '../support/http.ts'
import { addressOf, ALERTS } from './files.ts'
import { splitAddress } from '../../src/health/rules/rule.ts'

export const CONFIG = join(ALERTS, 'alertmanager.yaml')

export const configSchema = z.looseObject({
  route: z.looseObject({}),
  time_intervals: z.array(z.object({ name: z.string() })),
  receivers: z.array(z.looseObject({ name: z.string() })),
  inhibit_rules: z.array(
    z.object({
      source_matchers: z.array(z.string()),
      target_matchers: z.array(z.string()),
      equal: z.array(z.string()),
    }),
  ),
})
export const readConfig = async () => configSchema.parse(parse(await readFile(CONFIG, 'utf8')))

export type Labels = Readonly<Record<string, string>>

/** The labels of an alert by its address. */
export const labelsOf = (address: string, severity: string, others: Labels = {}): Labels => ({
  ...namedBy(address),
  severity,
  component: 'consensus',
  instance: 'a:9843',
  job: 'chain-agent',
  ...others,
})

const namedBy = (address: string): Labels => {
  const { alert, ...why } = splitAddress(address)
  return { alertname: alert, ...why }
}

/** `ChainDiskFull`, `ChainDiskFull.filling`. */
export const addressIn = ({ labels }: { readonly labels: Labels }): string =>
  addressOf({ alert: labels['alertname'] ?? '', labels })

const labelsSchema = z.record(z.string(), z.string())
const messageSchema = z.object({
  receiver: z.string(),
  groupLabels: labelsSchema,
  alerts: z.array(z.object({ labels: labelsSchema })),
})
type Message = z.output<typeof messageSchema>
const standingSchema = z.array(z.object({ labels: labelsSchema, status: z.object({ state: z.string() }) }))

/** An empty label counts as missing. */
const isSame = (seen: Labels, posted: Labels): boolean =>
  isDeepStrictEqual(seen, Object.fromEntries(Object.entries(posted).filter(([, value]) => value !== '')))

const ALWAYS = { times: [{ start_time: '00:00', end_time: '24:00' }] }
const NEVER = { years: ['1970'] }

/** The committed configuration with every wait set to 1 s and every receiver replaced by the webhook. */
const hastened = async (url: string, isNight: boolean) => {
  const { receivers, route, time_intervals: intervals, ...rest } = await readConfig()
  const hasten = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hasten)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        key,
        key === 'group_wait' || key === 'group_interval' ? '1s' : hasten(entry),
      ]),
    )
  }
  return {
    ...rest,
    time_intervals: intervals.map(({ name }) => ({ name, time_intervals: [isNight ? ALWAYS : NEVER] })),
    route: hasten(route),
    receivers: receivers.map(({ name }) =>
      name === 'none' ? { name } : { name, webhook_configs: [{ url, send_resolved: true }] },
    ),
  }
}

/** A real Alertmanager with the committed configuration, and a webhook in place of its receivers; it is night all day, or never. */
export const startListeners = async (isNight = false) => {
  const webhook = await receiving()
  const messages = (): readonly Message[] => webhook.bodies.map((body) => messageSchema.parse(JSON.parse(body)))
  const directory = await mkdtemp(join(tmpdir(), 'chain-alertmanager-'))
  const manager = await startAlertmanager(directory, await hastened(webhook.url, isNight))
  const post = async (...alerts: readonly Labels[]): Promise<void> =>
    manager.post(alerts.map((labels) => ({ labels, annotations: {} })))
  const open = async (alerts: readonly Labels[]): Promise<readonly Labels[]> => {
    const standing = standingSchema.parse(await manager.alerts())
    const suppressed = standing.filter(({ status }) => status.state === 'suppressed')
    const done = [...suppressed, ...messages().flatMap(({ alerts: told }) => told)]
    return alerts.filter((posted) => !done.some(({ labels }) => isSame(labels, posted)))
  }

  return {
    post,
    /** Posts alerts, and waits until each is delivered or inhibited. Returns the messages since the last `forget`. */
    hear: async (alerts: readonly Labels[]): Promise<readonly Message[]> => {
      await post(...alerts)
      await eventually(
        async () => open(alerts),
        (left) => left.length === 0,
      )
      return messages()
    },
    forget: (): void => {
      webhook.bodies.length = 0
    },
    stop: async (): Promise<void> => {
      await manager.stop()
      await webhook.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export type Listeners = Awaited<ReturnType<typeof startListeners>>
