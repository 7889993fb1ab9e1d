import { writeFileSync } from 'node:fs';
import { openWorld } from '../e2e/api/world.ts';
const w = await openWorld({ withGuest: true, onError: (f, m) => console.error(m, f) });
writeFileSync('/tmp/mcptry/env', `URL=${w.url}\nKEY=${w.key}\n`);
setTimeout(async () => { await w.close(); process.exit(); }, 400_000);
