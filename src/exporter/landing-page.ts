/** The page at `/`: which agent this is and where its readings are. Works without scripts or styles. */
export const renderLandingPage = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>chain-agent</title>
<body style="font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>chain-agent ${version}</h1>
<p>Watches the node on this host. Asking for these pages costs the node nothing.</p>
<ul>
<li><a href="/metrics">/metrics</a>: everything known, for Prometheus
<li><a href="/api/v1/status">/api/v1/status</a>: the same as JSON, with the reason where something is unknown
<li><a href="/api/v1/events">/api/v1/events</a>: what has changed, and when; <code>?since=</code> a moment, <code>&amp;limit=</code> how many
<li><a href="/-/healthy">/-/healthy</a>: the agent is alive
<li><a href="/-/ready">/-/ready</a>: every collector has tried once
</ul>
</html>
`
