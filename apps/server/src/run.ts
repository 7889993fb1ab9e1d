/** Lodge as two processes of one file: the machine host, which is root, starts the control plane, which is not. */
import { controlPlaneRole } from './machine-host/handover.ts';
import type { ControlPlaneOptions } from './run-control-plane.ts';

export interface LodgeOptions extends ControlPlaneOptions {
  /** Variables of the environment that the entry reads itself in the control plane, which gets no other. */
  readonly variables?: readonly string[];
}

/** Each process loads its own part alone. */
export async function runLodge(env: NodeJS.ProcessEnv, options: LodgeOptions = {}): Promise<void> {
  const [, entry, role] = process.argv;
  if (role === controlPlaneRole) {
    const { runControlPlane } = await import('./run-control-plane.ts');
    await runControlPlane(env, options);
  } else {
    const { runMachineHost } = await import('./machine-host/run-host.ts');
    await runMachineHost(env, entry!, options);
  }
}
