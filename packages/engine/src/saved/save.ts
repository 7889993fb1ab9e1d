import type { Pass } from '../lifecycle/reconcile/pass.ts';
export async function save(_pass: Pass): Promise<void> {}
