/** Makes every image and template that is not in the cache yet, and ends: those who need them then find them there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Service } from '@lodge/testkit/service';

/** Without KVM a template takes up to ten minutes, and longer beside other work. */
const mostMs = 40 * 60_000;
const deadline = Date.now() + mostMs;
const service = await Service.start();
try {
  let said = '';
  for (;;) {
    const { body } = await service.call('GET', '/health');
    if (body.status === 'ok') break;
    if (Date.now() > deadline) throw new Error(`not made in ${mostMs / 60_000} minutes:\n${service.output}`);
    const step = String(body.step ?? 'starting');
    if (step !== said) process.stdout.write(`   templates: ${step}\n`);
    said = step;
    await sleep(1_000);
  }
} finally {
  await service.destroy();
}
