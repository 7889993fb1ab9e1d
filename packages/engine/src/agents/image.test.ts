/** The rule by which an image looks for skills beside the variants that both runtimes name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilitiesOf, looksForSkills } from '@lodge/domain';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';

test('images of both runtimes look for skills, and those from before do not', () => {
  for (const [kind, { templateVariant }] of [
    ['runtime_a', createOpenclawRuntime()],
    ['runtime_b', createHermesRuntime()],
  ] as const) {
    const { skillsSince } = abilitiesOf(kind);
    const of = (configuration: number): string => templateVariant.replace(/-config-\d+-/, `-config-${configuration}-`);
    assert.match(templateVariant, /-config-\d+-/);
    assert.deepEqual(
      [templateVariant, `${templateVariant}-early-1`, of(skillsSince), of(skillsSince - 1), undefined].map((variant) =>
        looksForSkills(kind, variant),
      ),
      [true, true, true, false, false],
    );
  }
});
