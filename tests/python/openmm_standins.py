"""OpenMM's CUDA platform, whose kernels NVRTC makes: a box of water, with a cutoff and by Ewald's sum
(cuFFT), with rigid molecules and forces made of formulas, in three precisions. Energies and places
are those of OpenMM's reference platform."""
import openmm as mm
import openmm.unit as unit

SIDE, APART, BOX = 6, 0.4, 2.4


def water(ewald, rigid, formulas):
    system = mm.System()
    system.setDefaultPeriodicBoxVectors((BOX, 0, 0), (0, BOX, 0), (0, 0, BOX))
    force, bonds, angles = mm.NonbondedForce(), mm.HarmonicBondForce(), mm.HarmonicAngleForce()
    force.setNonbondedMethod(force.PME if ewald else force.CutoffPeriodic)
    force.setCutoffDistance(1.0)
    places = []
    for i in range(SIDE**3):
        first = 3 * i
        place = mm.Vec3(APART * (i % SIDE) + 0.01 * (i % 5), APART * (i // SIDE % SIDE) + 0.013 * (i % 3),
                        APART * (i // SIDE // SIDE) + 0.007 * (i % 7))
        for mass, charge, size, depth in ((16, -0.834, 0.315, 0.636), (1, 0.417, 1, 0), (1, 0.417, 1, 0)):
            system.addParticle(mass)
            force.addParticle(charge, size, depth)
        for a, b, length in ((0, 1, 0.09572), (0, 2, 0.09572), (1, 2, 0.15139)):
            force.addException(first + a, first + b, 0, 1, 0)
            if rigid:
                system.addConstraint(first + a, first + b, length)
            elif a == 0:
                bonds.addBond(first + a, first + b, length, 462750)
        if not rigid:
            angles.addAngle(first + 1, first, first + 2, 1.824, 836)
        places += [place, place + mm.Vec3(0.09572, 0, 0), place + mm.Vec3(-0.023999, 0.092663, 0)]
    for one in (force, bonds, angles):
        system.addForce(one)
    if formulas:
        outside = mm.CustomExternalForce("0.5*k*(x-1)^2+sin(y)")
        outside.addGlobalParameter("k", 2.0)
        pairs = mm.CustomNonbondedForce("1e-4*exp(-r*r)*q1*q2")
        pairs.addPerParticleParameter("q")
        pairs.setNonbondedMethod(pairs.CutoffPeriodic)
        pairs.setCutoffDistance(1.0)
        for i in range(system.getNumParticles()):
            pairs.addParticle([0.1 * (i % 3)])
            if i % 3 == 0:
                outside.addParticle(i, [])
        for k in range(force.getNumExceptions()):
            pairs.addExclusion(*force.getExceptionParameters(k)[:2])
        system.addForce(outside)
        system.addForce(pairs)
    return system, places


def run(platform, properties, *kind):
    system, places = water(*kind)
    integrator = mm.VerletIntegrator(0.0005)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName(platform), properties)
    context.setPositions(places)
    before = context.getState(getEnergy=True).getPotentialEnergy()
    integrator.step(10)
    state = context.getState(getEnergy=True, getPositions=True)
    joules = unit.kilojoule_per_mole
    return (before.value_in_unit(joules), state.getPotentialEnergy().value_in_unit(joules),
            state.getPositions()[7].x)


for kind in ((False, False, False), (False, True, True), (True, True, False), (True, False, True)):
    wanted = run("Reference", {}, *kind)
    for precision in ("mixed", "single", "double") if not any(kind) else ("mixed",):
        got = run("CUDA", {"Precision": precision}, *kind)
        for one, other in zip(wanted, got):
            assert abs(one - other) < 1e-5 * abs(one), (kind, precision, wanted, got)
print("PASSED")
