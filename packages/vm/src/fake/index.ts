export * from './driver.ts';
export { failAt, fakeSteps, hangAt, FakeHost, slow } from './host.ts';
export type { FakeBehaviour, FakeGuest, FakeStep, FakeVm } from './host.ts';
