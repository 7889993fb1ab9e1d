/** What an agent may cost its owner in LLM calls. Decimal USD; null: no bound in that window. Windows are days and months of UTC. */
export interface SpendLimit {
  readonly dailyUsd: string | null;
  readonly monthlyUsd: string | null;
  /** `block`: its model calls are refused until the window ends. `pause`: it is put to sleep as well. */
  readonly action: 'block' | 'pause';
}
