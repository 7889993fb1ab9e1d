/** Things that somebody uses at the moment, each as often as it is held. */
export class Holds {
  private readonly held = new Map<string, number>();

  /** Holds it until the returned function is called. */
  hold(id: string): () => void {
    this.held.set(id, this.count(id) + 1);
    return () => {
      const left = this.count(id) - 1;
      if (left === 0) this.held.delete(id);
      else this.held.set(id, left);
    };
  }

  has(id: string): boolean {
    return this.held.has(id);
  }

  count(id: string): number {
    return this.held.get(id) ?? 0;
  }
}
