import { Link } from './parts/basic.js';

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
