/**
 * Makes every image and template that is not in the cache yet, and ends, so that others find them there. Early templates are
 * left out, because nobody waits here for a first agent and they would stay in the cache for a week.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Service } from '@lodge/testkit/service';

/** Without KVM a template takes up to ten minutes, and longer beside other work. */
const maxMs = 40 * 60_000;
/** Characters of the log that are shown. */
const tailLength = 2_000;
const deadline = Date.now() + maxMs;
const entry = new URL('../packages/runtimes/conformance/lodge.ts', import.meta.url);
const service = await Service.start({ entry });
try {
  let said = '';
  for (;;) {
    const { body } = await service.call('GET', '/health');
    if (body.status === 'ok') break;
    if (Date.now() > deadline) throw new Error(`not made in ${maxMs / 60_000} minutes:\n${service.output}`);
    const step = String(body.step ?? 'starting');
    if (step !== said) process.stdout.write(`   templates: ${step}\n`);
    // The reply does not say why the last attempt failed; the log does.
    if (step !== said && step.endsWith('try again')) process.stdout.write(`${service.output.slice(-tailLength)}\n`);
    said = step;
    await sleep(1_000);
  }
} finally {
  await service.destroy();
}
