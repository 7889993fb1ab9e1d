/** The API's words for an agent's software and machine, as people read them. */
import { abilitiesOf, ofEachRuntime } from '@lodge/contract/words';
import type { Agent, Machine } from '@lodge/sdk';

export const runtimeNames = ofEachRuntime((kind) => abilitiesOf(kind).title);

export const sizeNames: Readonly<Record<Agent['size'], string>> = {
  small: 'Small',
  medium: 'Medium',
  large: 'Large',
  xlarge: 'Extra large',
};

/** The room that a machine takes: `2 processors, 4 GB of memory, 10 GB of disk`. */
export function machineWords({ vcpus, memory_mb: memory, disk_gb: disk }: Machine): string {
  const gigabytes = Number((memory / 1024).toFixed(1));
  return `${vcpus} ${vcpus === 1 ? 'processor' : 'processors'}, ${gigabytes} GB of memory, ${disk} GB of disk`;
}
