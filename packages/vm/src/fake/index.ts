export * from './driver.ts';
export {
  failAt,
  fakeMemorySteps,
  fakeRestSteps,
  fakeSaveSteps,
  fakeSteps,
  fakeUpgradeSteps,
  hangAt,
  FakeHost,
  slow,
} from './host.ts';
export type { FakeBehaviour, FakeGuest, FakeStep, FakeVm } from './host.ts';
