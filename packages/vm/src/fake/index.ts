export * from './driver.ts';
export {
  failAt,
  fakeBackupSteps,
  fakeSaveSteps,
  fakeSnapshotSteps,
  fakeSteps,
  fakeSuspendSteps,
  hangAt,
  FakeHost,
  slow,
} from './host.ts';
export type { FakeBehaviour, FakeGuest, FakeSnapshot, FakeStep, FakeVm } from './host.ts';
