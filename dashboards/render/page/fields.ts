import {
  type DataFrame,
  type DataTransformerInfo,
  type Field,
  FieldConfigOptionsRegistry,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  type GrafanaTheme2,
  applyFieldOverrides,
  cacheFieldDisplayNames,
  standardTransformers,
  standardTransformersRegistry,
  transformDataFrame,
} from '@grafana/data'
import { lastValueFrom } from 'rxjs'
import { type Visual } from './scene.ts'

/** Times as they are in the history, whatever machine draws them. */
export const TIME_ZONE = 'utc'

// Deprecated, and the only way to Grafana's own transformations outside its application.
const TRANSFORMERS: Readonly<Record<string, DataTransformerInfo>> = {
  merge: standardTransformers.mergeTransformer,
  organize: standardTransformers.organizeFieldsTransformer,
}

standardTransformersRegistry.setInit(() =>
  Object.entries(TRANSFORMERS).map(([id, transformer]) => ({
    id,
    name: id,
    imageDark: '',
    imageLight: '',
    transformation: () => Promise.resolve(transformer),
    editor: () => null,
  })),
)

export const transformed = async (
  { title, transformations = [] }: Visual,
  frames: DataFrame[],
): Promise<DataFrame[]> => {
  const unknown = transformations.find(({ id }) => !(id in TRANSFORMERS))
  if (unknown) throw new Error(`${title}: no transformation ${unknown.id} here yet`)
  if (transformations.length === 0) return frames
  const context = { interpolate: (text: string) => text }
  return lastValueFrom(transformDataFrame([...transformations], frames, context))
}

const STANDARD = ['unit', 'min', 'max', 'decimals', 'displayName', 'noValue', 'color', 'thresholds', 'mappings']
/** What a click would do: a picture has none. */
const UNSEEN = ['links']

/** What Grafana itself sets where a dashboard says nothing of it. */
const OWN: Readonly<Record<Visual['type'], Readonly<Record<string, unknown>>>> = {
  timeseries: {
    axisPlacement: 'auto',
    axisLabel: '',
    axisColorMode: 'text',
    axisBorderShow: false,
    barAlignment: 0,
    barWidthFactor: 0.6,
    drawStyle: 'line',
    fillOpacity: 0,
    gradientMode: 'none',
    hideFrom: { legend: false, tooltip: false, viz: false },
    lineInterpolation: 'linear',
    lineWidth: 1,
    pointSize: 5,
    scaleDistribution: { type: 'linear' },
    showPoints: 'auto',
    spanNulls: false,
    stacking: { group: 'A', mode: 'none' },
    thresholdsStyle: { mode: 'off' },
  },
  table: {
    align: 'auto',
    cellOptions: { type: 'auto' },
    filterable: false,
    inspect: false,
    minWidth: 50,
  },
  stat: {},
  bargauge: {},
  'state-timeline': {},
}

/** The frames with all that the panel says of their fields: defaults first, then what it says of single ones. */
export const dressed = (
  { type, title, fieldConfig }: Visual,
  frames: DataFrame[],
  theme: GrafanaTheme2,
): DataFrame[] => {
  const custom: Record<string, unknown> = { ...OWN[type], ...fieldConfig.defaults.custom }
  const overrides = fieldConfig.overrides.map(({ matcher, properties }) => ({
    matcher,
    properties: properties.filter(({ id }) => !UNSEEN.includes(id)),
  }))
  const asked = overrides.flatMap(({ properties }) => properties.map(({ id }) => id))
  const unknown = asked.find((id) => !STANDARD.includes(id) && !id.startsWith('custom.'))
  if (unknown !== undefined) throw new Error(`${title}: no property ${unknown} here yet`)
  const own = asked.filter((id) => id.startsWith('custom.')).map((id) => id.slice('custom.'.length))
  const { defaults } = fieldConfig
  const source: FieldConfigSource = { defaults: { ...defaults, custom, links: [] }, overrides }
  const made = applyFieldOverrides({
    data: frames,
    fieldConfig: source,
    fieldConfigRegistry: new FieldConfigOptionsRegistry(() => [
      ...STANDARD.map((id) => item(id, false)),
      ...[...new Set([...Object.keys(custom), ...own])].map((id) => item(id, true)),
    ]),
    replaceVariables: (text) => text,
    theme,
    timeZone: TIME_ZONE,
  })
  cacheFieldDisplayNames(made)
  return made
}

const item = (path: string, isCustom: boolean): FieldConfigPropertyItem => ({
  id: isCustom ? `custom.${path}` : path,
  path,
  name: path,
  isCustom,
  editor: () => null,
  override: () => null,
  process: path === 'thresholds' ? fromTheLeast : (value: unknown) => value,
  shouldApply: (_field: Field) => true,
})

/** JSON has no infinity: the first step has null. */
const fromTheLeast = (thresholds?: { mode: string; steps: { value: number | null }[] }) =>
  thresholds && {
    ...thresholds,
    steps: thresholds.steps.map((step) => ({ ...step, value: step.value ?? -Infinity })),
  }
