import { BarGauge, BigValue, VizRepeater, useTheme2 } from '@grafana/ui'
import {
  type DataFrame,
  type FieldDisplay,
  VizOrientation,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
} from '@grafana/data'
import { TIME_ZONE } from './fields.ts'
import { type Bars, type Stat } from './scene.ts'

interface Props<P> {
  readonly panel: P
  readonly frames: DataFrame[]
  readonly width: number
  readonly height: number
}

export const Figures = ({ panel, frames, width, height }: Props<Stat>) => {
  const theme = useTheme2()
  const { options } = panel
  const values = useValues(panel, frames, options.graphMode !== 'none')
  return (
    <VizRepeater<FieldDisplay, ReturnType<typeof getDisplayValueAlignmentFactors>>
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      itemSpacing={3}
      getValues={() => values}
      source={frames}
      renderCounter={0}
      width={width}
      height={height}
      autoGrid
      orientation={options.orientation}
      renderValue={({ value, ...place }) => (
        <BigValue
          value={value.display}
          sparkline={value.sparkline}
          count={place.count}
          width={place.width}
          height={place.height}
          colorMode={options.colorMode}
          graphMode={options.graphMode}
          justifyMode={options.justifyMode}
          textMode={options.textMode}
          alignmentFactors={place.alignmentFactors}
          disableWideLayout={!options.wideLayout}
          text={options.text}
          theme={theme}
        />
      )}
    />
  )
}

export const Bar = ({ panel, frames, width, height }: Props<Bars>) => {
  const theme = useTheme2()
  const values = useValues(panel, frames)
  const { options } = panel
  return (
    <VizRepeater<FieldDisplay, ReturnType<typeof getDisplayValueAlignmentFactors>>
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      getValues={() => values}
      source={frames}
      renderCounter={0}
      width={width}
      height={height}
      itemSpacing={10}
      minVizWidth={options.minVizWidth}
      minVizHeight={options.minVizHeight}
      maxVizHeight={options.maxVizHeight}
      orientation={VizOrientation.Horizontal}
      renderValue={({ value, ...place }) => (
        <BarGauge
          value={value.display}
          field={value.field}
          display={value.view?.getFieldDisplayProcessor(value.colIndex ?? 0)}
          width={place.width}
          height={place.height}
          orientation={VizOrientation.Horizontal}
          alignmentFactors={place.alignmentFactors}
          displayMode={options.displayMode}
          valueDisplayMode={options.valueMode}
          namePlacement={options.namePlacement}
          showUnfilled={options.showUnfilled}
          text={options.text}
          theme={theme}
        />
      )}
    />
  )
}

const useValues = ({ fieldConfig, options }: Stat | Bars, frames: DataFrame[], sparkline = false): FieldDisplay[] =>
  getFieldDisplayValues({
    fieldConfig,
    reduceOptions: options.reduceOptions,
    replaceVariables: (text) => text,
    theme: useTheme2(),
    data: frames,
    sparkline,
    timeZone: TIME_ZONE,
  })
