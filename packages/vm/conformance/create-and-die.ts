/** A control plane of its own, to be killed: starts a driver, says so, and creates the VM it is told to. */
import type { VmRequest } from '@lodge/engine/ports';
import { driverOf } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';

const { settings, request } = JSON.parse(process.argv[2]!) as { settings: QemuHostSettings; request: VmRequest };
const driver = driverOf(settings);
await driver.start();
process.stdout.write('creating\n');
await driver.create(request, new AbortController().signal);
process.stdout.write('created\n');
// Lives until it is killed.
setInterval(() => undefined, 1 << 30);
