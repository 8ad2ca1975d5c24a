cd /tmp/wt/watcher; timeout 300 npx vitest run "$@" 2>&1 | tail -60
