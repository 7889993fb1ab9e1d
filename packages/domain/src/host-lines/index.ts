export { hostMarks, hostMessage } from './host-line.ts';
export type { HostMark } from './host-line.ts';
