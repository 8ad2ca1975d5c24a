import { type DataFrame, FieldType, createDataFrame, renderLegendFormat } from '@grafana/data'
import { type Answer, type Visual } from './scene.ts'

/** The answers of a panel as Grafana's Prometheus data source hands them on. */
export const framesOf = ({ answers }: Visual): DataFrame[] =>
  answers.flatMap((answer) => (answer.isTable ? [tableOf(answer, answers.length)] : seriesOf(answer)))

const seriesOf = ({ refId, legend, step, series }: Answer): DataFrame[] =>
  series.map(({ labels, points }) => {
    const name = renderLegendFormat(legend, { ...labels })
    return createDataFrame({
      refId,
      name,
      fields: [
        {
          name: 'Time',
          type: FieldType.time,
          config: step === undefined ? {} : { interval: step * 1000 },
          values: points.map(([at]) => at * 1000),
        },
        {
          name: 'Value',
          type: FieldType.number,
          labels: { ...labels },
          config: { displayNameFromDS: name },
          values: points.map(([, value]) => value),
        },
      ],
    })
  })

/** A row for each series, a column for each label. */
const tableOf = ({ refId, series }: Answer, questions: number): DataFrame => {
  const labels = [...new Set(series.flatMap((one) => Object.keys(one.labels)))].toSorted()
  return createDataFrame({
    refId,
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        config: {},
        values: series.map(({ points }) => (points[0]?.[0] ?? 0) * 1000),
      },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        config: { filterable: true },
        values: series.map((one) => one.labels[label] ?? ''),
      })),
      {
        name: questions === 1 ? 'Value' : `Value #${refId}`,
        type: FieldType.number,
        config: {},
        values: series.map(({ points }) => points[0]?.[1] ?? null),
      },
    ],
  })
}
