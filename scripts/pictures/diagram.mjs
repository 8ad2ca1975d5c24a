// Renders a diagram of boxes, labels and straight arrows as SVG. test/pictures.test.ts measures the result.

const PALETTES = {
  light: {
    page: '#ffffff',
    region: '#f6f8fa',
    box: '#ffffff',
    own: '#ddf4ff',
    frame: '#8c959f',
    accent: '#0969da',
    line: '#57606a',
    text: '#1f2328',
    small: '#57606a',
  },
  dark: {
    page: '#0d1117',
    region: '#151b23',
    box: '#0d1117',
    own: '#0c2d4a',
    frame: '#6e7681',
    accent: '#4493f8',
    line: '#9198a1',
    text: '#f0f6fc',
    small: '#9198a1',
  },
}

const rules = (colors) => `
    .page { fill: ${colors.page} }
    .region { fill: ${colors.region}; stroke: ${colors.frame}; stroke-dasharray: 6 4 }
    .box { fill: ${colors.box}; stroke: ${colors.frame}; stroke-width: 1.5 }
    .own { fill: ${colors.own}; stroke: ${colors.accent}; stroke-width: 2 }
    .line { stroke: ${colors.line}; stroke-width: 1.5; marker-end: url(#tip) }
    .tip { fill: ${colors.line} }
    .name { fill: ${colors.text} }
    .small, .label { fill: ${colors.small} }`

const [PADDING_X, NAME_Y, LINE_Y] = [14, 24, 18]

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const renderBox = ({ kind = 'box', at: [x, y], size: [width, height], name, lines = [] }) => [
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`,
  `<text class="${kind === 'region' ? 'small' : 'name'}" x="${x + PADDING_X}" y="${y + NAME_Y}">${escape(name)}</text>`,
  ...lines.map(
    (line, index) =>
      `<text class="small" x="${x + PADDING_X}" y="${y + NAME_Y + LINE_Y * (index + 1) + 2}">${escape(line)}</text>`,
  ),
]

/** The arrow points from the client to the server. Its label is centred above it unless `labelAt` places its start. */
const renderArrow = ({ from: [x1, y1], to: [x2, y2], label, labelAt, isOptional = false }) => {
  const dashes = isOptional ? ' stroke-dasharray="5 4"' : ''
  const [x, y] = labelAt ?? [(x1 + x2) / 2, y1 - 7]
  const anchor = labelAt ? 'start' : 'middle'
  return [
    `<line class="line" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"${dashes}/>`,
    `<text class="label" x="${x}" y="${y}" text-anchor="${anchor}">${escape(label)}</text>`,
  ]
}

export const renderDiagram = ({ title, description, size: [width, height], boxes, arrows }) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc" font-family="system-ui, 'DejaVu Sans', sans-serif">
  <title id="title">${escape(title)}</title>
  <desc id="desc">${escape(description)}</desc>
  <style>
    .name { font-size: 14px; font-weight: 700 }
    .small, .label { font-size: 12px }${rules(PALETTES.light)}
    @media (prefers-color-scheme: dark) {${rules(PALETTES.dark).replaceAll('\n', '\n  ')}
    }
  </style>
  <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>
  <rect class="page" x="0" y="0" width="${width}" height="${height}" rx="8"/>
${[...boxes.flatMap(renderBox), ...arrows.flatMap(renderArrow)].map((line) => `  ${line}`).join('\n')}
</svg>
`
