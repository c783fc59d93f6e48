import { Link } from './parts/buttons.js';

export function Brand() {
  return (
    <Link to="./" class="brand">
      <span class="logo" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      rerank gateway
    </Link>
  );
}
