import type { HostNetwork } from '../network/index.ts';

export type Refused = Awaited<ReturnType<HostNetwork['readRefused']>>;

/** The refusals of a VM's rules since the last call. `slotOf` tells its slot, which it may lose meanwhile. */
export async function refusedOf(
  network: HostNetwork,
  pid: number | undefined,
  slotOf: () => Promise<number | null>,
): Promise<Refused> {
  const slot = await slotOf();
  if (slot === null) return { refused: [], more: 0 };
  // The question runs beside everything else: the namespace may go meanwhile, or not exist yet.
  return network.readRefused(slot, pid).catch(async (error: unknown) => {
    if ((await network.slots()).includes(slot) && (await slotOf()) === slot) throw error;
    return { refused: [], more: 0 };
  });
}
