/** A separate control plane that is killed: it starts a driver, reports it, and makes the call from its arguments. */
import { driverOf } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { makeSaved } from './saved-calls.ts';
import type { SavedCall } from './saved-calls.ts';

const { settings, call } = JSON.parse(process.argv[2]!) as { settings: QemuHostSettings; call: SavedCall };
const driver = driverOf(settings);
await driver.start();
process.stdout.write('calling\n');
await makeSaved(driver, settings, call);
process.stdout.write('done\n');
// The process lives until it is killed.
setInterval(() => undefined, 1 << 30);
