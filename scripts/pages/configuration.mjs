// docs/reference/configuration.md: every setting, by section.
import { stringify } from 'yaml'
import { keys } from '../../.cache/modules/src/config/schema.js'

const HEAD = `# Configuration

Generated from \`src/config/schema.ts\` by \`npm run generate\`. [config.example.yaml](../../config.example.yaml) has the same as a file.

A standard node needs no configuration: \`chain-agent run\` alone works there. Every command reads the file named by \`--config\`, else by
\`CHAIN_AGENT_CONFIG\`, else \`/etc/chain-agent/config.yaml\` if it exists; \`config\`, \`check\` and \`status\` print which one is in use. The installed file is
readable by root and the group \`chain-agent\`.

A setting can also be set by its variable or by a flag (\`--set rpc.interval=1s\`). Precedence, lowest to highest: file, environment, flag.
\`chain-agent config\` prints the effective configuration and the source of each value, without secrets. If the configuration is invalid, the agent exits
with status 2 before starting anything and prints the file and line.

To apply a changed file, check it with \`chain-agent config\` and run \`systemctl reload chain-agent\`. The agent restarts the collectors whose settings
changed, keeps the others running, and logs the changed keys. If the file is invalid, it logs the error, keeps the previous configuration, and sets
\`chain_agent_config_last_reload_successful\` to 0. \`chain-agent help run\` lists the keys that need a restart. Neither a reload nor a restart loses or
repeats a line.

Durations: \`500ms\`, \`2s\`, \`5m\`, \`1h\`. \`{prefix}\` in a path is the name prefix of the node.
`

const sectionOf = ({ path }) => (path.includes('.') ? path.split('.')[0] : 'General')

export const renderConfigurationPage = () => {
  const sections = [...new Set(keys.map(sectionOf))]
  return `${[
    HEAD,
    `Sections: ${sections.map((section) => `[${section}](#${section.toLowerCase()})`).join(' · ')}`,
    ...sections.flatMap((section) => [
      '',
      `## ${section}`,
      '',
      '| setting | default | meaning |',
      '|---|---|---|',
      ...keys
        .filter((key) => sectionOf(key) === section)
        .map(({ path, variable, description, byDefault }) =>
          [`| \`${path}\``, `\`${inline(byDefault)}\``, `${cell(description)} (\`${variable}\`) |`].join(' | '),
        ),
    ]),
  ].join('\n')}\n`
}

const cell = (text) => text.replaceAll('|', String.raw`\|`)

const inline = (value) => cell(stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim())
