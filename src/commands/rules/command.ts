import { InvalidArgumentError, Option } from 'commander'
import { fileOption } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { matching, NO_VALUES, readNumber, readPageUrl, repeatable } from '../../terminal/option-values.ts'

/** `chain-agent rules`: the alert rules with the links, limits and switches of an installation. */
export const rulesCommand = defineCommand({
  options: (command) =>
    fileOption(command)
      .option(
        '-o, --output <directory>',
        'write one file per subject into this directory; default: one document on stdout',
      )
      .addOption(
        new Option('--format <format>', 'rule files, resources of Kubernetes, or the template of the messages')
          .choices(['prometheus', 'prometheusrule', 'template'])
          .default('prometheus'),
      )
      .option('--runbooks <url>', 'where you publish docs/runbooks; {alert} stands for the name', readPageUrl)
      .option('--dashboards <url>', 'the address of Grafana', readPageUrl)
      .option('--job <name>', 'the scrape job of the agents (default: chain-agent)', readJob)
      .option(
        '--set <alert.setting=value>',
        'a limit: ALERT.limit, .warning, .critical or .for; repeatable',
        addSetting,
        NO_VALUES,
      )
      .option('--disable <alert>', 'leave out an alert, NAME or NAME.why; repeatable', repeatable(), NO_VALUES)
      .option(
        '--labels <names>',
        'labels of your targets that every rule keeps, separated by commas (default: cluster)',
        readLabels,
      )
      .option('--resource-label <key=value>', 'a label of the custom resources; repeatable', addLabel, NO_VALUES)
      .addOption(
        new Option('--estimate <url>', 'write nothing: how often each rule would have fired, by this Prometheus')
          .argParser(readPageUrl)
          .conflicts(['output', 'format']),
      )
      .option('--days <number>', 'the days of --estimate before now (default: 30)', readDays)
      .option('--json', 'the result of --estimate as JSON'),
  help: `The rules are those of alerts/*.rules.yaml. The keys health.limits,
health.disable and health.objective of the configuration change them, and
--set and --disable override the configuration. The running agent evaluates the
same rules: set limits in its configuration, so that its health agrees with
Prometheus.

Alertmanager renders the messages with chain.tmpl, which --output writes next to
the rules and --format template prints. For the Prometheus Operator it is a
ConfigMap, chain-agent-templates. docs/how-to/alerts.md has the steps.

A value is in the unit of its metric: 25ms, 90s, 15min or 2d; 5% or 0.05; 450.
Every rule keeps the labels instance, job and cluster: name all others that
routes or inhibitions use with --labels, and in group_by and equal of
alertmanager.yaml. Run the command again after each upgrade: files of the same
name are replaced.

--estimate evaluates each rule on the samples that a Prometheus has, and lists
the loudest first. A month of many nodes takes minutes.

Exit codes: 0 the rules were written, 1 they were not, 2 usage error; with
--estimate 0 estimated, 1 not.

Examples:
  chain-agent rules --output /etc/prometheus/chain-agent --runbooks https://wiki.example/runbooks --dashboards https://grafana.example
  chain-agent rules --set ChainExecutionSlow.limit=400ms --set ChainBehind.for=1m --disable ChainHostSetUp.smt
  chain-agent rules --format template > /etc/prometheus/chain.tmpl
  chain-agent rules --estimate http://localhost:9090 --set ChainExecutionSlow.limit=400ms
  chain-agent rules --format prometheusrule --resource-label release=prometheus | kubectl apply --server-side -f -`,
  load: async () => (await import('./action.ts')).runRules,
})

const addSetting = repeatable(
  matching(/^\w+(\.[\w-]+)?\.\w+=./, 'ALERT.SETTING=VALUE, like ChainExecutionSlow.limit=400ms'),
)
const addLabel = repeatable(matching(/^[\w./-]+=[\w.-]*$/, 'KEY=VALUE, like release=prometheus'))

const readLabels = (text: string): readonly string[] => {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => /^[a-zA-Z_]\w*$/.test(name))) return names
  throw new InvalidArgumentError('expected names of labels separated by commas, like cluster,region')
}

const MAX_DAYS = 365
const readDays = readNumber(1, MAX_DAYS)
const readJob = matching(/^[^"\\\s]+$/, 'the name of a scrape job, like chain-agent')
