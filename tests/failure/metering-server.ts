/**
 * The metering of model calls as a separate process that can be killed: store, ledger, prices and broker, put together as
 * the server does. Settings in METERING; prints the port it listens on.
 */
import { createSecretBox } from '@lodge/access';
import { createBroker, createPriceBook, parseOperatorProviders } from '@lodge/broker';
import { createCallLedger, createUsageKeeper } from '@lodge/engine';
import { openStore } from '@lodge/store';
import { host, modelOf, prices } from './metering-plan.ts';
import type { ServerSettings } from './metering-plan.ts';

const { connectionString, providers, calls } = JSON.parse(process.env['METERING']!) as ServerSettings;
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields: object, message: string) => console.error(message, fields),
};
const store = await openStore({ connectionString, log });
const ledger = createCallLedger(store.database, host);
const keeper = createUsageKeeper({
  database: store.database,
  ledger,
  log,
  contents: { maxAgeMs: 1e9, maxBytes: 1e9 },
  calls: { maxCalls: 1e6, maxAgeMs: 1e12 },
});
await keeper.start();
const known = parseOperatorProviders(providers);
const overrides = known.flatMap(({ id }) =>
  Array.from({ length: calls }, (_, n) => [`${id}/${modelOf(n)}`, prices] as const),
);
const broker = createBroker({
  directory: store.directoryOf(host),
  secrets: createSecretBox(Buffer.alloc(32, 7)),
  ledger,
  prices: createPriceBook(known, new Map(overrides)),
  providers: known,
  log,
});
const { port } = await broker.listen({ host: '127.0.0.1', port: 0 });
process.on('SIGTERM', () => {
  void broker
    .close()
    .then(() => keeper.stop())
    .then(() => store.close());
});
process.stdout.write(`${port}\n`);
