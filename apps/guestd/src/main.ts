/** The daemon in every guest: serves the guest protocol to the host and keeps the agent's runtime running. Respawned by init. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { AgentBrowser } from './browser/browser.ts';
import { Freezer } from './freezer.ts';
import { Journal } from './journal.ts';
import { Kernel } from './kernel.ts';
import { LogFile } from './log-file.ts';
import { setOomScore } from './processes.ts';
import { RuntimeSupervisor } from './runtime-service.ts';
import { createGuestServer } from './server.ts';
import { readSettings } from './settings.ts';

process.umask(0o022);
const settings = readSettings(process.argv.slice(2));
const logFolder = `${settings.root}/var/log/lodge`;
const journal = new Journal(`${logFolder}/guestd`);
const runtimeLog = new LogFile(`${logFolder}/runtime`);

process.on('uncaughtException', (error) => {
  journal.error('the daemon failed and starts again', error);
  process.exit(1);
});

setOomScore(process.pid, -900);
const kernel = new Kernel();
const freezer = new Freezer(settings.root, journal, () => kernel.pids);
const runtime = new RuntimeSupervisor(settings, journal, runtimeLog);
const browser = new AgentBrowser(settings, journal, runtimeLog);
const logs = { guestd: journal.file, runtime: runtimeLog };
const server = createGuestServer({ settings, journal, kernel, freezer, runtime, browser, logs });
server.listen(settings.port, '0.0.0.0');
await once(server, 'listening');
journal.info(`listening on port ${(server.address() as AddressInfo).port} for ${settings.peer ?? 'any address'}`);
kernel.warm();
void browser.resume();
await runtime.run();
